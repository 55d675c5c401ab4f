import { bundleChildren } from "../scripts/bundle-children.mjs";

export async function setup(): Promise<void> {
  await bundleChildren();
}
