/** Where the adapters of real programs are at work: our environment, and the programs of ours that they start. */
export interface AgentPlace {
  readonly env: NodeJS.ProcessEnv;
  /** Absolute paths. */
  readonly programs: {
    readonly node: string;
    /** Asked before a tool runs, by agents with hooks. */
    readonly hook: string;
    /** The same as an extension of pi. */
    readonly piGuard: string;
    /** Speaks ACP with a program, both ways. */
    readonly acp: string;
  };
}
