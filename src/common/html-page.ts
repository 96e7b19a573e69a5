// Small pages without scripts, such as those of a sign-in.

/** `title` and `program` are texts, `body` is HTML. */
export function htmlPage(title: string, program: string | undefined, body: string): string {
  const documentTitle = program === undefined ? title : `${title} – ${program}`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(documentTitle)}</title>
<style>
  :root { color-scheme: light dark }
  body { font: 1rem/1.5 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0 }
  main { max-width: 30rem; padding: 2rem }
  h1 { font-size: 1.4rem; margin: 0 0 .5rem }
  p { margin: 0 0 1rem }
  label { display: block; margin: 0 0 1rem }
  input { font: inherit; box-sizing: border-box; width: 100%; padding: .5rem; margin-top: .25rem }
  button { font: inherit; padding: .5rem 1.25rem }
</style></head>
<body><main><h1>${escapeHtml(title)}</h1>${body}</main></body></html>
`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
