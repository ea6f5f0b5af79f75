/**
 * The style of the file, in the colours of the console: light and dark by the system, the language of the
 * examples by a choice at the top.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ink: #17202a;
  --muted: #56626f;
  --line: #dbe0e5;
  --page: #ffffff;
  --panel: #f6f7f8;
  --accent: #0f766e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e9ee;
    --muted: #9aa7b3;
    --line: #2a343d;
    --page: #0e1317;
    --panel: #161c22;
    --accent: #4fd1c0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 1080px;
  padding: 24px 20px 64px;
  background: var(--page);
  color: var(--ink);
  font: 15px/1.55 system-ui, sans-serif;
}
h1 { margin: 0 0 4px; font-size: 28px; line-height: 1.2; }
h2 { margin: 48px 0 4px; padding-top: 16px; border-top: 1px solid var(--line); font-size: 21px; }
#begin { margin-top: 0; border: 0; }
h3 { margin: 28px 0 0; font-size: 16px; }
p, dd { max-width: 76ch; margin: 6px 0; }
a { color: var(--accent); }
code, pre, .mono { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
.muted { color: var(--muted); }
.badge {
  margin-left: 8px;
  padding: 1px 8px;
  border: 1px solid var(--line);
  border-radius: 9px;
  color: var(--muted);
  font-size: 12px;
  font-weight: 400;
  vertical-align: middle;
}
pre {
  margin: 8px 0;
  padding: 12px 14px;
  border: 1px solid var(--line);
  border-radius: 6px;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  background: var(--panel);
  unicode-bidi: isolate;
}
figure { margin: 8px 0; }
figcaption { color: var(--muted); font-size: 13px; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: 14px; }
th, td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--muted); font-weight: 500; }
tbody th { font-weight: 600; }
.key { color: var(--accent); }
nav ul { columns: 14em; padding-left: 18px; }
nav li { padding: 4px 0; }
nav a { display: inline-block; min-width: 24px; padding: 2px 0; }
.languages {
  position: sticky;
  top: 0;
  display: flex;
  flex-wrap: wrap;
  gap: 4px 18px;
  margin: 16px 0;
  padding: 8px 0;
  border: 0;
  border-bottom: 1px solid var(--line);
  background: var(--page);
}
.languages legend { float: left; padding: 0; color: var(--muted); }
.languages label { padding: 6px 0; cursor: pointer; }
body:has(#show-curl:checked) .example:not(.curl),
body:has(#show-python:checked) .example:not(.python),
body:has(#show-typescript:checked) .example:not(.typescript) { display: none; }
dl.errors > div { display: grid; grid-template-columns: 48px minmax(0, 1fr); gap: 12px; margin: 10px 0; }
dl.errors dt { font-weight: 600; }
dl.errors dd { margin: 0; }
@media print {
  :root { color-scheme: light; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  .languages { display: none; }
  h2 { break-before: page; border: 0; }
  h2, h3, figcaption { break-after: avoid; }
  tr, figure { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
`;
