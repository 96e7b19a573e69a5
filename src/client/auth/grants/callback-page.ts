// The page a user sees after signing in. Static except for the client's own name: nothing an untrusted server sent in the
// callback is ever shown.

const texts = {
  done: { title: 'Signed in', text: 'You can close this page and go back to where you came from.' },
  failed: { title: 'Not signed in', text: 'The sign-in did not succeed. The program that started it says why.' },
  unexpected: { title: 'Nothing to see', text: 'This request does not belong to a sign-in that is under way.' },
} as const;

/** Renders the page for an outcome. */
export function renderPage(outcome: keyof typeof texts, clientName = 'Mooring'): string {
  const { title, text } = texts[outcome];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ${escapeHtml(clientName)}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0 }
  main { max-width: 28rem; padding: 2rem; text-align: center }
  h1 { font-size: 1.4rem; margin: 0 0 .5rem }
  p { margin: 0; opacity: .8 }
</style></head>
<body><main><h1>${title}</h1><p>${text}</p></main></body></html>
`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
