// One line on stderr that says what runs now; silent without a terminal.

const watched = process.stderr.isTTY;

/** @param {string} text */
export function progress(text) {
  if (watched) process.stderr.write(`\r\u001b[K${text}`);
}

export function clearProgress() {
  if (watched) process.stderr.write('\r\u001b[K');
}
