// Preloaded into HTTP servers: on request, collects garbage and reports what is still held, or exits. Needs --expose-gc.
process.on('message', (message) => {
  if (message === 'exit') process.exit(0);
  if (message !== 'memory') return;
  globalThis.gc?.();
  // Finalizers free what they hold after the first collection; the second one sees it.
  setTimeout(() => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ heldBytes: heapUsed + external });
  }, 300);
});
