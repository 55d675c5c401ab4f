/** Put in place by the bundler, from package.json. */
declare const __RATCHET_VERSION__: string;

export const version: string = __RATCHET_VERSION__;
