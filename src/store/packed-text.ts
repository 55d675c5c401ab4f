import { deflateSync, inflateSync } from "node:zlib";

/**
 * Texts that are kept for good and read now and then: what arrived, what was told of it, states, findings. They are JSON
 * that says the same names over and over, and a commit writes whole pages, so a long one is stored packed, as a blob.
 * Short ones, of which nearly two fit a page, stay as they are: packing takes a tenth of a commit's time.
 */
const long = 600;

/**
 * What such texts look like: they are packed as what differs from this. It is part of the format. Packed texts carry its
 * checksum, so another one would be told apart, but these words must stay for as long as there are texts packed with them.
 */
const usualWords = Buffer.from(
  [
    '{"source":"review","stage":"review","reviewer":"default","outcome":"fail","file":"src/","line_start":1,"line_end":1,',
    '"priority":1,"title":"","body":{"text":"","ref":{"path":"/runs/20","bytes":,"sha256":""}},"visit":1,"raised_at":1',
    ',"run_id":"20","reviewers":[""],"earlier":[],"reopened":0,"order":[1,1]}{"in":{"phase":{"is":"done"},"tokens":{"at":0,',
    '"each":[{"in":{"stage":{"is":""},"order":{"at":1,"drop":1,"put":[]},"last":{"in":{"stage":{"is":""}}},"run":{"is":null}}}]},',
    '"stages":{"gone":[],"in":{"same":{"is":1},"visits":{"is":1},"add":{"outcome":"success","visits":1,"order":"1"}}},"passed":',
    '"values":{".response":{"is":"owed":[{"kind":"turn","issueId":null,"attempt":1,"maxAttempts":3,"prompt":{"template":',
    '{"type":"command-ended","key":"gate:1:test","exitCode":1,"timedOut":false,"stopped":false,"seconds":0.1,"digest":"',
    '","outputPath":"/tails":"(no output)","discarded":[],{"type":"turn-ended","key":"stage::v1:a1","outcome":{"type":"ended"},',
    '"sessionId":null,"usage":{"inputTokens":0,"outputTokens":0,"costUsd":null},"usage":null,"seconds":0.1,"until":179,"reply":',
    '{"text":"","ref":{"path":"/transcript.jsonl","bytes":,"sha256":""}},"replyDigest":"","status":{"from":"marker","status":',
    '"fail","failureReason":"","preferredLabel":null,"nextIds":[]},"snapshot":{"head":"","tree":"","filesTree":"","dirty":[],',
    '"dirtyCount":0,"commits":1,"docsOnly":false,"containsBase":true,"namedCommitInTarget":null},"marker":null,"review":null,',
    '"commit":"","at":179[{"type":"turn-ended","outcome":"ended","session_id":null,"usage":null,"role":"stage"},{"type":',
    '"stage-ended","stage":"","visit":1,"outcome":"fail","attempts":1,"seconds":0.1,"usage":null,"reason":""},{"type":',
    '"finding-raised","finding":"","source":"review","stage":"","reviewer":"","file":"","line_start":0,"line_end":0,',
    '"priority":null,"title":"","reopened":false},{"type":"finding-resolved","finding":"","issue_id":"","commit":""},',
    '{"type":"edge-taken","from":"","to":""},{"type":"stage-started","stage":"","visit":1,"attempt":1},{"type":"stage-ended",',
    '"stage":"","visit":1,"outcome":"success","attempts":1,"seconds":0,"usage":null,"reason":null},{"type":"prompt-sent",',
    '"kind":"stage","attempt":1,"max_attempts":3,"path":"/runs/20/_run/1-/prompt.md","role":"stage"}]',
  ].join(""),
);
/** A small window costs little to set up, and what repeats in such texts is near. */
const options = { level: 2, windowBits: 12, memLevel: 4, chunkSize: 1024, dictionary: usualWords };

export function packText(text: string): string | Uint8Array {
  return text.length < long ? text : deflateSync(text, options);
}

export function unpackText(bytes: Uint8Array): string {
  return inflateSync(bytes, { dictionary: usualWords }).toString("utf8");
}
