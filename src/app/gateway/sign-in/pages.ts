// The pages of a sign-in. They show names of the configuration and of the user, and nothing that a server has sent.

import { escapeHtml, htmlPage } from '../../../common/html-page.ts';

export interface SignInButton {
  readonly text: string;
  /** Where the form is sent. */
  readonly action: string;
  /** A field for a token. */
  readonly asksToken?: boolean;
}

export interface SignInPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  readonly buttons?: readonly SignInButton[];
}

/** A server, and the visit to its authorization server. */
export interface ConsentAbout {
  readonly slug: string;
  readonly server: string;
  readonly visit: { readonly url: URL };
}

export const pages = {
  unknown: {
    title: 'This link is not valid any more',
    paragraphs: ['It was used already, or is too old. Repeat in your client what you wanted to do, to get a new one.'],
  },
  failed: {
    title: 'Not signed in',
    paragraphs: ['The sign-in did not succeed. Repeat in your client what you wanted to do, to try again.'],
  },
  unavailable: {
    title: 'Try again later',
    paragraphs: ['The gateway could not find out who you are. Its operator finds the reason in its log.'],
  },
  busy: {
    title: 'Try again later',
    paragraphs: ['Too many users sign in at the same time. Load this page again in a few seconds.'],
  },
  wrongToken: (action: string): SignInPage => ({
    ...pages.token(action),
    title: 'This token is not valid',
  }),
  token: (action: string): SignInPage => ({
    title: 'Who are you?',
    paragraphs: ['Enter the token that your client uses for this gateway. It is used only to find out who you are.'],
    buttons: [{ text: 'Continue', action, asksToken: true }],
  }),
  tokenOrAccount: (action: string): SignInPage => ({
    title: 'Who are you?',
    paragraphs: [
      'Sign in with the account that you have at this gateway. If your client uses a token of the gateway, enter it instead. It is used only to find out who you are.',
    ],
    buttons: [
      { text: 'Sign in', action },
      { text: 'Continue with the token', action, asksToken: true },
    ],
  }),
  otherUser: (user: string, action: string): SignInPage => ({
    title: 'This link is for someone else',
    paragraphs: [
      `You are ${user} at this gateway, and another user has requested this sign-in. If someone has sent you the link, do not go on: that person would use the server in your name.`,
    ],
    buttons: [{ text: 'I am another user', action }],
  }),
  consent: (user: string, { slug, server, visit }: ConsentAbout, action: string): SignInPage => ({
    title: `Sign in to ${slug}`,
    paragraphs: [
      `You are ${user} at this gateway, and your client wants to use ${new URL(server).host}. Next, you sign in at ${visit.url.host}.`,
      'The gateway stores the access that you grant there, and uses it only for requests of your own clients.',
    ],
    buttons: [{ text: 'Continue', action }],
  }),
  servers: (user: string, slugs: readonly string[], action: string): SignInPage => ({
    title: 'Servers that you are signed in to',
    paragraphs: [
      slugs.length === 0
        ? `${user} is signed in to no server of this gateway.`
        : `${user} is signed in to ${slugs.join(', ')}. After signing out, the gateway has no access in your name any more, until you sign in again.`,
    ],
    ...(slugs.length === 0 ? {} : { buttons: [{ text: 'Sign out of all', action }] }),
  }),
  done: (slug: string): SignInPage => ({
    title: `Signed in to ${slug}`,
    paragraphs: ['You can close this page and go back to your client.'],
  }),
};

export const pageHeaders: readonly string[] = [
  'Content-Type',
  'text/html; charset=utf-8',
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'Cache-Control',
  'no-store',
  // Without any, browsers would send the forms with "Origin: null", as they do for pages of an unknown origin.
  'Referrer-Policy',
  'same-origin',
  'X-Content-Type-Options',
  'nosniff',
];

export function renderPage({ title, paragraphs, buttons = [] }: SignInPage): string {
  const texts = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`).join('');
  return htmlPage(title, undefined, texts + buttons.map(form).join(''));
}

function form({ text, action, asksToken = false }: SignInButton): string {
  const field = asksToken
    ? '<label>Token <input type="password" name="token" autocomplete="off" required autofocus></label>'
    : '';
  return `<form method="post" action="${escapeHtml(action)}">${field}<button>${escapeHtml(text)}</button></form>`;
}
