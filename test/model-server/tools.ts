import type { Asked, OfferedTool, Say } from "./script.js";

/** A call of a tool that the program has offered. `input` is text where the tool takes text. */
export interface ToolCall {
  readonly tool: OfferedTool;
  readonly input: unknown;
}

/** A tool in the program's own words; null: this is text, or the program has no such tool. */
export function toToolCall(say: Say, asked: Asked): ToolCall | null {
  const offered = (...names: string[]) => asked.tools.find((tool) => names.includes(tool.name)) ?? null;
  if ("text" in say) return null;
  if ("tool" in say) return { tool: offered(say.tool.name) ?? unoffered(say.tool.name), input: say.tool.input };
  if ("shell" in say) return shellCall(say.shell, offered);
  if ("write" in say) return writeCall(say.write, offered);
  return readCall(say.read, offered);
}

type Find = (...names: string[]) => OfferedTool | null;

/** A model may well call a tool that is not there: programs must cope. */
function unoffered(name: string): OfferedTool {
  return { name, kind: "function", inputs: [] };
}

function shellCall(command: string, offered: Find): ToolCall | null {
  const tool = offered("Bash", "bash", "exec_command", "shell_command", "shell", "local_shell", "run_shell_command");
  if (!tool) return null;
  if (tool.name === "exec_command") return { tool, input: { cmd: command } };
  if (tool.name === "shell" || tool.name === "local_shell")
    return { tool, input: { command: ["bash", "-c", command] } };
  // OpenCode refuses a command without a word on what it is for.
  if (tool.name === "bash" && tool.inputs.includes("description"))
    return { tool, input: { command, description: "Work" } };
  return { tool, input: { command } };
}

function writeCall({ path, text }: { path: string; text: string }, offered: Find): ToolCall | null {
  const tool = offered("Write", "write", "write_file", "apply_patch");
  if (!tool)
    return shellCall(`mkdir -p "$(dirname ${quote(path)})" && printf %s ${quote(text)} > ${quote(path)}`, offered);
  if (tool.name === "apply_patch") return { tool, input: addFilePatch(path, text) };
  return { tool, input: { [pathInput(tool)]: path, content: text } };
}

function readCall(path: string, offered: Find): ToolCall | null {
  const tool = offered("Read", "read", "read_file");
  if (!tool) return shellCall(`cat ${quote(path)}`, offered);
  return { tool, input: { [pathInput(tool)]: path } };
}

function pathInput({ inputs }: OfferedTool): string {
  return ["file_path", "filePath"].find((name) => inputs.includes(name)) ?? "path";
}

function addFilePatch(path: string, text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return ["*** Begin Patch", `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), "*** End Patch"].join("\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
