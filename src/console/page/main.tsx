// The start of the page.

import { render } from 'preact';
import { takeToken, token } from './access.ts';
import { App } from './app.tsx';
import { followFeed } from './feed.ts';
import { startLists } from './lists.ts';
import { parse, route, startRouter } from './router.ts';
import { accessProblem } from './server.ts';
import { startTheme } from './theme.ts';

takeToken();
if (token() !== null) accessProblem.value = undefined;
route.value = parse(location.hash);
startTheme();
startRouter();
startLists();
// A new link in the same tab.
addEventListener('hashchange', () => {
  if (!location.hash.startsWith('#t=')) return;
  takeToken();
  location.reload();
});
render(<App />, document.getElementById('app') as HTMLElement);
void followFeed();
