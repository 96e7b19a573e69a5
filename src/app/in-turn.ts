// Work that must not run twice at a time.

/** One run at a time; calls during a run are merged into one more run. */
export function inTurn(work: () => Promise<void>): () => void {
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
