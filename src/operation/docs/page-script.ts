/**
 * The script of the documentation, which the pages can do without. It copies code, marks the heading that is
 * read, and follows links from when the reference was one page (`/docs#/Emails/postEmailsSend`): the element
 * with that id is a line of the overview that leads to the operation.
 */
export const PAGE_SCRIPT = `const leadOn = () => {
  if (!location.hash.startsWith('#/')) return;
  const line = document.getElementById(location.hash.slice(1))?.closest('[data-to]');
  if (line) location.replace(line.dataset.to);
};
leadOn();
addEventListener('hashchange', leadOn);

const copy = async (code) => {
  const text = code.textContent.replace(/\\n$/, '');
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // By plain http there is no clipboard but by way of what is selected.
  getSelection().selectAllChildren(code);
  const is_done = document.execCommand('copy');
  getSelection().removeAllRanges();
  if (!is_done) throw new Error('refused');
};
for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.setAttribute('aria-live', 'polite');
  button.onclick = async () => {
    button.textContent = await copy(block.querySelector('code')).then(() => 'Copied', () => 'Select it and copy it by hand');
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  };
  block.append(button);
}

const links = [...document.querySelectorAll('.toc a')];
const headings = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
const mark = () => {
  const passed = headings.filter((heading) => heading && heading.getBoundingClientRect().top < 120).length;
  links.forEach((link, index) => {
    if (index === Math.max(0, passed - 1)) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  });
};
if (links.length > 0) {
  addEventListener('scroll', mark, { passive: true });
  mark();
}
`;
