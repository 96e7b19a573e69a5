// Work of which only one run may be in progress.

/** Returns a function that runs `work`. Calls during a run are merged into one more run after it. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let running: Promise<void> | undefined;
  let again = false;
  const run = async (): Promise<void> => {
    do {
      again = false;
      await work();
    } while (again);
    running = undefined;
  };
  return () => {
    if (running === undefined) running = run();
    else again = true;
  };
}
