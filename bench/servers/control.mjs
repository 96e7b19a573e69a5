// How an HTTP contestant and the bench talk beside the protocol: over the process channel, so that no route is added.

/**
 * Tells the bench where the server listens; several servers of one process by their names.
 * @param {number} port @param {Record<string, number>} [ports]
 */
export const listening = (port, ports) => process.send?.({ listening: port, ports });

/** Runs `publish` when the bench asks for one change of the tool list. @param {() => void} publish */
export const onChange = (publish) =>
  process.on('message', (message) => {
    if (message === 'change') publish();
  });
