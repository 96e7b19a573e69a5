// How an HTTP contestant and the bench talk beside the protocol: over the process channel, so that no route is added.

/** Tells the bench where the server listens, and the other one where a process has two. @param {number | number[]} ports @param {string} [link]  of its console */
export const listening = (ports, link) => process.send?.({ listening: [ports].flat(), link });

/** Runs `publish` when the bench asks for one change of the tool list. @param {() => void} publish */
export const onChange = (publish) =>
  process.on('message', (message) => {
    if (message === 'change') publish();
  });
