// How an HTTP contestant and the bench talk beside the protocol: over the process channel, so that no route is added.

/** Tells the bench where the server listens. @param {number} port */
export const listening = (port) => process.send?.({ listening: port });

/** Runs `publish` when the bench asks for one change of the tool list. @param {() => void} publish */
export const onChange = (publish) =>
  process.on('message', (message) => {
    if (message === 'change') publish();
  });
