// The start of the page.

import { render } from 'preact';
import { takeCode, takeToken, token } from './access.ts';
import { App } from './app.tsx';
import { followFeed } from './feed.ts';
import { startLists } from './lists.ts';
import { parse, route, startRouter } from './router.ts';
import { accessProblem } from './server.ts';
import { startTheme } from './theme.ts';

takeToken();
const problem = await takeCode();
if (token() !== null) accessProblem.value = undefined;
else if (problem !== undefined) accessProblem.value = problem;
route.value = parse(location.hash);
startTheme();
startRouter();
startLists();
// A new link in the same tab.
addEventListener('hashchange', () => {
  if (!/^#[tc]=/.test(location.hash)) return;
  takeToken();
  // A code is taken by the page that is loaded.
  location.reload();
});
render(<App />, document.getElementById('app') as HTMLElement);
void followFeed();
