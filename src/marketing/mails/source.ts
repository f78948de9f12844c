/**
 * Putting together what marketing mail is rendered from: the template in its layout, with everything that all
 * its mails share filled in and its links found. Only what differs from mail to mail is left open. Pure
 * functions.
 */
import { invalid } from '../../errors.ts';
import { MAX_RENDERED_CHARS } from '../../limits.ts';
import { compileTemplate, isOptional, type TemplateRow } from '../../mail/templates/service.ts';
import { DEFAULT_LANGUAGE } from '../../platform/words/words.ts';
import { type LayoutValues, layOutHtml, layOutText, withPreheader } from './layout.ts';
import { type Replace, replaceHtmlLinks, replaceTextLinks } from './links.ts';
import { isOwnLink } from './merge-fields.ts';

/**
 * A text, the name of a merge field, or the position of a link. Position 0 is the mail's own picture and
 * hidden link.
 */
export type Part = string | readonly [name: string] | number;

export interface Link {
  target: readonly (string | readonly [name: string])[];
  /** Hosts that get the contact_token, where the link may lead to one. */
  token_hosts: readonly string[] | null;
  /** What its address gains once it is followed; null for nothing. */
  utm: Readonly<Record<string, string>> | null;
}

/** What a mail is rendered from, as it is stored. */
export interface Source {
  subject: readonly Part[];
  html: readonly Part[] | null;
  text: readonly Part[] | null;
  /** Merge fields that need a value of each mail, in its parts or its links. */
  names: readonly string[];
  /** Those of them that are empty without one. */
  optional: readonly string[];
  /** With which the addresses of its links begin. */
  public_url: string;
  /** The targets, by position, of links that may be no web address: these stay as they are in the mail. */
  open_targets: Readonly<Record<string, Link['target']>>;
  /** The hash of what is sent in its place to those whose opens and clicks are not counted; it has none itself. */
  untracked?: string;
}

export interface SourceInput {
  template: Pick<TemplateRow, 'subject' | 'body_html' | 'body_text' | 'variables' | 'layout'>;
  /** What all mails share: the variables of the step and what the settings say. */
  values: Readonly<Record<string, string>>;
  brand: Pick<LayoutValues, 'brand_name' | 'brand_color' | 'brand_logo_url' | 'brand_website_url'>;
  /** Null for the default. */
  language: LayoutValues['language'] | null;
  /** In place of the template's. */
  subject?: string | undefined;
  /** What inboxes show behind the subject; it may have merge fields. */
  preheader: string | null;
  token_hosts: readonly string[];
  public_url: string;
  track_opens: boolean;
  utm: Link['utm'];
  /** Where nothing may tell that it is read, links stay as they were written, and nothing that nobody sees is added. */
  is_tracked: boolean;
}

const WEB = /^https?:\/\//i;
const TOO_LONG = `has more than ${MAX_RENDERED_CHARS} characters once its variables are filled in`;

interface Composed {
  source: Source;
  /** From position 1 on. */
  links: Link[];
  /** It is in the HTML, too. */
  preheader: readonly Part[] | null;
}

/** What is sent to those whose opens and clicks are counted, and to all others. */
export interface ComposedTwice {
  tracked: Composed;
  untracked: Composed;
}

export function composeBoth(input: Omit<SourceInput, 'is_tracked'>): ComposedTwice {
  return {
    tracked: composeSource({ ...input, is_tracked: true }),
    untracked: composeSource({ ...input, is_tracked: false }),
  };
}

export function composeSource(input: SourceInput): Composed {
  const { template, values, public_url } = input;
  const { body_html, body_text } = template;
  const { subject = template.subject } = input;
  const marks = new Marks([
    subject,
    body_html ?? '',
    body_text ?? '',
    input.preheader ?? '',
    ...shownValues(input),
  ]);
  const found = new FoundLinks(input, marks);
  const fill = (text: string, encode: (value: string) => string): string => {
    let length = 0;
    return compileTemplate(text)
      .parts.map((part) => {
        // Own ones only: `constructor` is nobody's value.
        const value =
          typeof part === 'string' || !Object.hasOwn(values, part.name) ? undefined : values[part.name];
        const filled =
          typeof part === 'string' ? part : value === undefined ? marks.ofName(part.name) : encode(value);
        length += filled.length;
        if (length > MAX_RENDERED_CHARS) throw invalid({ template: [TOO_LONG] });
        return filled;
      })
      .join('');
  };
  const plain = (value: string): string => value;
  const layout: LayoutValues = {
    ...input.brand,
    language: input.language ?? DEFAULT_LANGUAGE,
    postal_address: values.postal_address ?? marks.ofName('postal_address'),
    unsubscribe_url: marks.ofName('unsubscribe_url'),
  };
  const layOut = template.layout === 'marketing';
  const replace: Replace = (address) => (input.is_tracked ? found.replace(address) : null);
  const preheader = input.preheader && fill(input.preheader, plain);
  const htmlOf = (text: string): string => {
    const filled = fill(text, Bun.escapeHTML);
    const linked = replaceHtmlLinks(layOut ? layOutHtml(filled, layout) : filled, replace);
    return preheader ? withPreheader(linked, preheader) : linked;
  };
  const textOf = (text: string): string => {
    const filled = fill(text, plain);
    return replaceTextLinks(layOut ? layOutText(filled, layout) : filled, replace);
  };
  const html = body_html === null ? null : htmlOf(body_html);
  const text = body_text === null ? null : textOf(body_text);
  const unseen = [
    input.track_opens && input.is_tracked ? pictureAt(`${public_url}/o/${marks.ofLink(0)}.gif`) : '',
    found.links.length > 0 ? hiddenLinkTo(`${public_url}/c/${marks.ofLink(0)}`) : '',
  ].join('');
  const parts = {
    subject: marks.split(fill(subject, plain)),
    html: html === null ? null : marks.split(endingWith(unseen, html)),
    text: text === null ? null : marks.split(text),
  };
  const required = template.variables.flatMap(({ name, required }) =>
    required && !Object.hasOwn(values, name) ? [name] : [],
  );
  const used = [...parts.subject, ...(parts.html ?? []), ...(parts.text ?? [])];
  const targets = found.links.flatMap(({ target }) => target);
  const names = new Set([...[...used, ...targets].flatMap(nameOf), ...required]);
  const optional = new Set([...names].filter((name) => isOptional(name, template.variables)));
  if (!names.has('contact_token') && found.links.some(({ token_hosts }) => token_hosts !== null))
    for (const set of [names, optional]) set.add('contact_token');
  return {
    source: {
      ...parts,
      names: [...names],
      optional: [...optional],
      public_url,
      open_targets: found.open_targets,
    },
    links: found.links,
    preheader: preheader ? marks.split(preheader) : null,
  };
}

function nameOf(part: Part): string[] {
  return Array.isArray(part) ? [String(part[0])] : [];
}

function shownValues({ values, brand, public_url }: SourceInput): string[] {
  const { brand_name, brand_color, brand_logo_url, brand_website_url } = brand;
  const shown = [brand_name, brand_color, brand_logo_url, brand_website_url, public_url];
  return [...Object.values(values), ...shown.map((value) => value ?? '')];
}

function pictureAt(address: string): string {
  return `<img src="${Bun.escapeHTML(address)}" width="1" height="1" alt="" style="display:block;border:0">`;
}

/**
 * A link that no person sees or reaches, by keyboard or screen reader either. Whoever follows it is a
 * scanner.
 */
function hiddenLinkTo(address: string): string {
  return `<a href="${Bun.escapeHTML(address)}" aria-hidden="true" tabindex="-1"></a>`;
}

function endingWith(added: string, html: string): string {
  const end = html.toLowerCase().lastIndexOf('</body');
  return end < 0 ? html + added : html.slice(0, end) + added + html.slice(end);
}

/** The links of a mail: those that lead to the same place are one, in HTML and text alike. */
class FoundLinks {
  readonly links: Link[] = [];
  readonly open_targets: Record<string, Link['target']> = {};
  readonly #positions = new Map<string, number>();

  constructor(
    private readonly input: SourceInput,
    private readonly marks: Marks,
  ) {}

  /** What replaces an address. Null for what is no link to follow, and for the one that unsubscribes. */
  replace(address: string): string | null {
    const target = this.marks.split(address).filter((part) => typeof part !== 'number');
    const [first = ''] = target;
    const is_open = typeof first !== 'string';
    if (!is_open && !WEB.test(first)) return null;
    if (isOwnLink(target)) return null;
    const position = this.#positions.get(address) ?? this.#add(address, target);
    if (is_open) this.open_targets[position] = target;
    return is_open
      ? this.marks.ofLink(position)
      : `${this.input.public_url}/c/${this.marks.ofLink(position)}`;
  }

  #add(address: string, target: Link['target']): number {
    this.links.push({ target, token_hosts: this.#tokenHostsOf(target), utm: this.input.utm });
    const position = this.links.length;
    this.#positions.set(address, position);
    return position;
  }

  #tokenHostsOf(target: Link['target']): readonly string[] | null {
    const { token_hosts } = this.input;
    if (token_hosts.length === 0) return null;
    const [first = ''] = target;
    const host = typeof first === 'string' ? /^https?:\/\/([^/?#\\]+)[/?#]/i.exec(first)?.[1] : undefined;
    // Where merge fields may still change the host it is looked at when the link is followed.
    if (host === undefined && target.length > 1) return token_hosts;
    const known = host ?? (typeof first === 'string' ? first : '').replace(WEB, '');
    const url = `https://${known}`;
    return URL.canParse(url) && token_hosts.includes(new URL(url).hostname) ? token_hosts : null;
  }
}

/** A mark that can't be confused with text: a private-use character that none of the texts holds. */
const PRIVATE_USE = Array.from({ length: 0x19_00 }, (_, n) => String.fromCharCode(0xe0_00 + n));

/** Marks put in place of merge fields and links while the text around them is parsed. */
class Marks {
  readonly #mark: string;
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(texts: readonly string[]) {
    const free = PRIVATE_USE.find((mark) => !texts.some((text) => text.includes(mark)));
    if (free === undefined)
      throw invalid({ template: ['uses every character for private use (Unicode Co)'] });
    this.#mark = free;
  }

  ofName(name: string): string {
    const number = this.#numbers.get(name) ?? this.#names.push(name) - 1;
    this.#numbers.set(name, number);
    return `${this.#mark}n${number}z`;
  }

  ofLink(position: number): string {
    return `${this.#mark}l${position}z`;
  }

  /** The text between the marks, and what they stand for. */
  split(text: string): (string | readonly [name: string] | number)[] {
    const parts: (string | readonly [name: string] | number)[] = [];
    let from = 0;
    for (const match of text.matchAll(new RegExp(`${this.#mark}([nl])(\\d+)z`, 'g'))) {
      if (match.index > from) parts.push(text.slice(from, match.index));
      from = match.index + match[0].length;
      const n = Number(match[2]);
      parts.push(match[1] === 'l' ? n : [this.#names[n] ?? '']);
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
  }
}
