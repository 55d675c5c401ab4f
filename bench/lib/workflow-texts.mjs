/** How many stages a file of the usual size has. */
export const stages = 200;

/** Work and a review of it, again and again; a review that fails leads back. */
function kdlText(count) {
  const lines = [];
  for (let at = 0; at < count / 2; at++) {
    const next = at + 1 < count / 2 ? `work${at + 1}` : "exit";
    lines.push(
      `stage "work${at}" kind="llm" prompt="Do part ${at} of $goal"`,
      `stage "review${at}" kind="llm" auto_status=#true prompt="Review part ${at}"`,
      `transition from="work${at}" to="review${at}"`,
      `transition from="review${at}" to="${next}" when=#"outcome("review${at}") == "success""#`,
      `transition from="review${at}" to="work${at}" when=#"outcome("review${at}") != "success""#`,
    );
  }
  return `workflow "bench" {\n  version 2\n  start "work0"\n  ${lines.join("\n  ")}\n  stage "exit" kind="exit"\n}\n`;
}

function dotText(count) {
  const lines = ["start [shape=Mdiamond]", "exit [shape=Msquare]", "start -> work0"];
  for (let at = 0; at < count / 2; at++) {
    const next = at + 1 < count / 2 ? `work${at + 1}` : "exit";
    lines.push(
      `work${at} [shape=box, prompt="Do part ${at} of $goal"]`,
      `review${at} [shape=box, auto_status=true, prompt="Review part ${at}"]`,
      `work${at} -> review${at}`,
      `review${at} -> ${next} [condition="outcome=success"]`,
      `review${at} -> work${at} [condition="outcome!=success"]`,
    );
  }
  return `digraph bench {\n  ${lines.join("\n  ")}\n}\n`;
}

export const textsOf = { kdl: kdlText, dot: dotText };
