// The page a user sees after signing in. Static except for the client's own name: nothing an untrusted server sent in the
// callback is ever shown.

import { htmlPage } from '../../../common/html-page.ts';

const texts = {
  done: { title: 'Signed in', text: 'You can close this page and go back to where you came from.' },
  failed: { title: 'Not signed in', text: 'The sign-in did not succeed. The program that started it says why.' },
  unexpected: { title: 'Nothing to see', text: 'This request does not belong to a sign-in that is under way.' },
} as const;

/** Renders the page for an outcome. */
export function renderPage(outcome: keyof typeof texts, clientName = 'Mooring'): string {
  const { title, text } = texts[outcome];
  return htmlPage(title, clientName, `<p>${text}</p>`);
}
