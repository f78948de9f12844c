/** The first text of a new template: readable in light and dark, on a desk and on a telephone. */

const TEXT = `Hello {{ first_name }},

write here what the mail is about.`;

/** The layout of marketing mail has the rest. */
const MARKETING_HTML = `<h1>Hello {{ first_name }}</h1>
<p>Write here what the mail is about.</p>
`;

const HTML = `<!doctype html>
<html lang="en">
<head>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
  body { margin: 0; padding: 24px 16px; font: 16px/24px system-ui, sans-serif; color: #1b1b1f; background: #ffffff; }
  main { max-width: 560px; margin: 0 auto; }
  h1 { font-size: 22px; line-height: 28px; }
  .button { display: inline-block; padding: 10px 18px; border-radius: 6px; color: #ffffff; background: #5753c6; text-decoration: none; }
  @media (prefers-color-scheme: dark) {
    body { color: #ededf0; background: #151518; }
  }
</style>
</head>
<body>
<main>
  <h1>Hello {{ first_name }}</h1>
  <p>Write here what the mail is about.</p>
  <p><a class="button" href="https://example.com">And what to do next</a></p>
</main>
</body>
</html>
`;

const MARKDOWN = `# Hello {{ first_name }}

Write here what the mail is about.

[And what to do next](https://example.com)
`;

export function starterOf(language: string, is_marketing: boolean) {
  if (language === 'markdown') return { body_markdown: MARKDOWN };
  return { body_html: is_marketing ? MARKETING_HTML : HTML, body_text: TEXT };
}
