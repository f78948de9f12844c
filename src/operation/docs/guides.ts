/** The handbook: Markdown guides that the executable carries, as pages and as sections to search. */
import { decodeHTML } from 'entities';
import alerts from '../../../handbook/alerts.md' with { type: 'text' };
import backups from '../../../handbook/backups.md' with { type: 'text' };
import captcha from '../../../handbook/captcha.md' with { type: 'text' };
import ci from '../../../handbook/ci.md' with { type: 'text' };
import configuration from '../../../handbook/configuration.md' with { type: 'text' };
import container from '../../../handbook/container.md' with { type: 'text' };
import deliverability from '../../../handbook/deliverability.md' with { type: 'text' };
import files from '../../../handbook/files.md' with { type: 'text' };
import keys_in_pages from '../../../handbook/keys-in-pages.md' with { type: 'text' };
import limits from '../../../handbook/limits.md' with { type: 'text' };
import mail from '../../../handbook/mail.md' with { type: 'text' };
import marketing from '../../../handbook/marketing.md' with { type: 'text' };
import mcp from '../../../handbook/mcp.md' with { type: 'text' };
import people from '../../../handbook/people.md' with { type: 'text' };
import proxies from '../../../handbook/proxies.md' with { type: 'text' };
import second_machine from '../../../handbook/second-machine.md' with { type: 'text' };
import smtp from '../../../handbook/smtp.md' with { type: 'text' };
import start from '../../../handbook/start.md' with { type: 'text' };
import upgrading from '../../../handbook/upgrading.md' with { type: 'text' };
import vault from '../../../handbook/vault.md' with { type: 'text' };
import webhooks from '../../../handbook/webhooks.md' with { type: 'text' };

/** In the order in which one reads them. */
const TEXTS: Readonly<Record<string, string>> = {
  start,
  files,
  mail,
  smtp,
  deliverability,
  marketing,
  'keys-in-pages': keys_in_pages,
  captcha,
  people,
  mcp,
  vault,
  ci,
  webhooks,
  alerts,
  backups,
  'second-machine': second_machine,
  proxies,
  container,
  configuration,
  limits,
  upgrading,
};

export interface Section {
  /** Of its heading in the page; '' for what stands before the first one. */
  id: string;
  title: string;
  /** Without markup. */
  text: string;
}

export interface Guide {
  name: string;
  title: string;
  html: string;
  sections: readonly Section[];
}

const TITLE = /<h1[^>]*>(.*?)<\/h1>/s;
/** A heading as the renderer writes it. */
const HEADING = /<h[23] id="([^"]*)">(.*?)<\/h[23]>/s;
/** Guides name each other as files, so that the links lead somewhere in the repository as well. */
const GUIDE_LINK = /href="([a-z-]+)\.md(#[^"]*)?"/g;

/** The Markdown of a guide; null where there is none of this name. */
export function guideText(name: string): string | null {
  return Object.hasOwn(TEXTS, name) ? (TEXTS[name] ?? null) : null;
}

let guides: readonly Guide[] | undefined;

/** All guides, rendered at the first call. */
export function readGuides(): readonly Guide[] {
  guides ??= Object.entries(TEXTS).map(([name, text]) => toGuide(name, text));
  return guides;
}

function toGuide(name: string, markdown: string): Guide {
  const html = Bun.markdown
    .html(markdown, { headings: { ids: true } })
    .replace(GUIDE_LINK, 'href="/docs/guide/$1$2"')
    // A table or a line of code that is wider than a phone scrolls by itself, by keyboard too. Code has a
    // button.
    .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<div class="code"><pre tabindex="0">')
    .replaceAll('</pre>', '</pre></div>');
  const [, title = name] = TITLE.exec(html) ?? [];
  // Two groups of the pattern: after the text before the first heading come id, title and text of each.
  const [before = '', ...rest] = html.split(HEADING);
  const sections = [{ id: '', title: plain(title), text: plain(before.replace(TITLE, '')) }];
  for (let at = 0; at < rest.length; at += 3) {
    const [id = '', heading = '', text = ''] = rest.slice(at, at + 3);
    sections.push({ id, title: plain(heading), text: plain(text) });
  }
  return { name, title: plain(title), html, sections };
}

/** The text of some HTML; what stands in a line stays together. */
function plain(html: string): string {
  return decodeHTML(html.replace(/<\/?(?:a|code|em|strong)\b[^>]*>/g, '').replace(/<[^>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
}
