import { createSlots, type Release } from "./slots.js";

/**
 * Places for the commands of gates, those on a merge that is to land included. A life keeps its place from its gate's
 * first command to the last, so that what has begun is judged before what waits. Whoever waits here holds no agent's
 * place, and whoever holds a place here waits for nobody: neither a landing nor an exclusive command.
 */
export interface CommandPlaces {
  /** Does the task at the holder's place, and waits for one first where it has none; rejects when aborted meanwhile. */
  use<T>(request: PlaceRequest, task: () => Promise<T>): Promise<T>;
  /** The holder's gate is over, or it waits for something else; what still runs has its place to the end. */
  giveBack(holder: string): void;
}
export interface PlaceRequest {
  readonly holder: string;
  /** A landing: it is nearer to its end, and all others wait for it. */
  readonly goesFirst: boolean;
  readonly signal: AbortSignal;
}

interface Place {
  readonly release: Release;
  tasks: number;
  isOver: boolean;
}

export function createCommandPlaces(most: number): CommandPlaces {
  const slots = createSlots(most);
  const held = new Map<string, Place>();
  const settle = (holder: string, place: Place) => {
    if (place.tasks > 0 || !place.isOver) return;
    if (held.get(holder) === place) held.delete(holder);
    place.release();
  };
  const placeOf = async ({ holder, goesFirst, signal }: PlaceRequest): Promise<Place> => {
    const place = held.get(holder);
    if (place) return place;
    const release = await slots.acquire({ issueId: holder, turn: goesFirst ? "later" : "first", signal });
    return { release, tasks: 0, isOver: false };
  };
  return {
    async use(request, task) {
      const { holder, signal } = request;
      const place = await placeOf(request);
      held.set(holder, place);
      place.tasks++;
      place.isOver = false;
      try {
        return await task();
      } finally {
        place.tasks--;
        // Nobody owes it any more, and that may have been told before there was a place.
        if (signal.aborted) place.isOver = true;
        settle(holder, place);
      }
    },
    giveBack(holder) {
      const place = held.get(holder);
      if (!place) return;
      place.isOver = true;
      settle(holder, place);
    },
  };
}
