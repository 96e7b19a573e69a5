// The script of the documentation site: opens the navigation on wide screens, and searches the index that was built with
// the site. The index is loaded when the search is first used.
const base = document.documentElement.dataset.base ?? '';
const menu = document.querySelector('nav details');
const wide = matchMedia('(min-width: 60rem)');
const setMenu = () => {
  if (menu instanceof HTMLDetailsElement) menu.open = wide.matches;
};
wide.addEventListener('change', setMenu);
setMenu();

const input = /** @type {HTMLInputElement} */ (document.querySelector('.search input'));
const list = /** @type {HTMLOListElement} */ (document.querySelector('.search ol'));
const maxShown = 12;

/** @typedef {{ page: string, heading: string, url: string, text: string }} Entry */
/** @type {Promise<Entry[]> | undefined} */
let loading;

// A script and not a fetch, so that the site also works from a folder.
function loadIndex() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `${base}search-index.js`;
    script.onload = () => resolve(/** @type {{ searchIndex?: Entry[] }} */ (globalThis).searchIndex ?? []);
    script.onerror = () => {
      loading = undefined;
      reject(new Error('The search index could not be loaded'));
    };
    document.head.append(script);
  });
  return loading;
}

/** All words must occur; titles count most. @param {Entry} entry @param {string[]} words */
function score(entry, words) {
  let sum = 0;
  const [page, heading, text] = [entry.page, entry.heading, entry.text].map((each) => each.toLowerCase());
  for (const word of words) {
    const found = (heading?.includes(word) ? 6 : 0) + (page?.includes(word) ? 4 : 0) + (text?.includes(word) ? 1 : 0);
    if (found === 0) return 0;
    sum += found;
  }
  return sum;
}

/** @param {Entry} entry @param {string} word */
function show(entry, word) {
  const link = document.createElement('a');
  link.href = base + entry.url;
  link.textContent = entry.heading === '' ? entry.page : `${entry.page} › ${entry.heading}`;
  const at = Math.max(0, entry.text.toLowerCase().indexOf(word) - 30);
  const excerpt = document.createElement('small');
  excerpt.textContent = entry.text.slice(at, at + 120);
  link.append(excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const entries = words.length === 0 ? [] : await loadIndex();
  const found = entries
    .map((entry) => ({ entry, score: score(entry, words) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxShown);
  const items = found.map(({ entry }) => show(entry, words[0] ?? ''));
  if (words.length > 0 && items.length === 0) {
    const none = document.createElement('li');
    none.textContent = 'Nothing found';
    items.push(none);
  }
  list.replaceChildren(...items);
  list.hidden = words.length === 0;
}

input.addEventListener('input', search);
input.addEventListener('focus', search);
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === 'Escape') list.hidden = true;
  else if (event.key === 'Enter' && document.activeElement === input) list.querySelector('a')?.click();
});
document.addEventListener('click', (event) => {
  if (event.target instanceof Node && !input.parentElement?.contains(event.target)) list.hidden = true;
});
