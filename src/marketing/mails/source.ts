/**
 * Putting together what marketing mail is rendered from: the template in its layout, with everything that all
 * its mails share filled in and its links found. Only what differs from mail to mail is left open. Pure
 * functions.
 */
import { AppError, invalid } from '../../errors.ts';
import { MAX_RENDERED_CHARS } from '../../limits.ts';
import { compileTemplate, isOptional, type TemplateRow } from '../../mail/templates/service.ts';
import { DEFAULT_LANGUAGE } from '../../platform/words/words.ts';
import { type LayoutValues, layOutHtml, layOutText, withPreheader } from './layout.ts';
import { replaceHtmlLinks, replaceTextLinks } from './links.ts';
import { encodeFor, isOwnLink, type Place } from './merge-fields.ts';

/** A merge field, and within an address the place where it stands. */
export type Field = readonly [name: string, place?: Place];

/**
 * A text, a merge field, or the position of a link. Position 0 is the mail's own picture and hidden link.
 */
export type Part = string | Field | number;

export interface Link {
  target: readonly (string | Field)[];
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
  /** It is in the HTML, too; null without that. */
  preheader: readonly Part[] | null;
  /** Merge fields that need a value of each mail, in its parts or its links. */
  names: readonly string[];
  /** Those of them that are empty without one. */
  optional: readonly string[];
  /** Those of them with which an address begins: a value must be one. */
  begins: readonly string[];
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
  /** Whether the layout begins with a link to the mail in a browser. */
  view_link: boolean;
  public_url: string;
  track_opens: boolean;
  utm: Link['utm'];
  /** Where nothing may tell that it is read, links stay as they were written, and nothing that nobody sees is added. */
  is_tracked: boolean;
}

/** Stands at both ends of what a page leaves out, as it is that page: no placeholder has this name, and its value is empty. */
const EDGE: Field = [''];

/** The parts without what stands between edges. */
export function partsOfPage(parts: readonly Part[]): Part[] {
  let is_out = false;
  return parts.filter((part) => {
    const is_edge = Array.isArray(part) && part[0] === EDGE[0];
    if (is_edge) is_out = !is_out;
    return !is_edge && !is_out;
  });
}

const WEB = /^https?:\/\//i;
const MAILTO = /^mailto:/i;
const TOO_LONG = `has more than ${MAX_RENDERED_CHARS} characters once its variables are filled in`;

interface Composed {
  source: Source;
  /** From position 1 on. */
  links: Link[];
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

/** What refuses it, where it can't be composed. */
export function tryToCompose(input: Omit<SourceInput, 'is_tracked'>): ComposedTwice | AppError {
  try {
    return composeBoth(input);
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error;
    throw error;
  }
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
  const { sharedValue, mark, share } = filling(values, marks);
  const found = new FoundLinks(input, marks, sharedValue);
  const plain = (value: string): string => value;
  const fill = (text: string): string => share(mark(text, plain), plain);
  const layout: LayoutValues = {
    ...input.brand,
    language: input.language ?? DEFAULT_LANGUAGE,
    postal_address: values.postal_address ?? marks.ofField(['postal_address']),
    unsubscribe_url: marks.ofField(['unsubscribe_url']),
    view: input.view_link ? { url: marks.ofField(['view_url']), edge: marks.ofField(EDGE) } : null,
  };
  const layOut = template.layout === 'marketing';
  const preheader = input.preheader && fill(input.preheader);
  const htmlOf = (text: string): string => {
    const marked = mark(text, Bun.escapeHTML);
    const linked = replaceHtmlLinks(layOut ? layOutHtml(marked, layout) : marked, found.replace);
    const shared = share(linked, Bun.escapeHTML);
    return preheader ? withPreheader(shared, preheader) : shared;
  };
  const textOf = (text: string): string => {
    // First the addresses that the template has, then those that shared values have.
    const shared = share(replaceTextLinks(mark(text, plain), found.share), plain);
    return replaceTextLinks(layOut ? layOutText(shared, layout) : shared, found.replace);
  };
  const html = body_html === null ? null : htmlOf(body_html);
  const text = body_text === null ? null : textOf(body_text);
  const unseen = [
    input.track_opens && input.is_tracked ? pictureAt(`${public_url}/o/${marks.ofLink(0)}.gif`) : '',
    found.links.length > 0 ? hiddenLinkTo(`${public_url}/c/${marks.ofLink(0)}`) : '',
  ].join('');
  const parts = {
    subject: marks.split(fill(subject)),
    html: html === null ? null : marks.split(endingWith(unseen, html)),
    text: text === null ? null : marks.split(text),
    preheader: preheader && html !== null ? marks.split(preheader) : null,
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
      begins: [...found.begins],
      public_url,
      open_targets: found.open_targets,
    },
    links: found.links,
  };
}

/** How texts are filled: with marks for merge fields at first, since it depends on where a value stands how it is written. */
function filling(values: SourceInput['values'], marks: Marks) {
  type Encode = (value: string) => string;
  // Own ones only: `constructor` is nobody's value.
  const sharedValue = (name: string): string | undefined =>
    Object.hasOwn(values, name) ? values[name] : undefined;
  const mark = (text: string, encode: Encode): string => {
    let length = 0;
    return compileTemplate(text)
      .parts.map((part) => {
        const marked = typeof part === 'string' ? part : marks.ofField([part.name]);
        const value = typeof part === 'string' ? undefined : sharedValue(part.name);
        length += (value === undefined ? marked : encode(value)).length;
        if (length > MAX_RENDERED_CHARS) throw invalid({ template: [TOO_LONG] });
        return marked;
      })
      .join('');
  };
  const share = (text: string, encode: Encode): string =>
    marks.replaceNames(text, (name) => {
      const value = sharedValue(name);
      return value === undefined ? null : encode(value);
    });
  return { sharedValue, mark, share };
}

function nameOf(part: Part): string[] {
  return Array.isArray(part) && part[0] !== EDGE[0] ? [String(part[0])] : [];
}

function shownValues({ values, brand, public_url }: SourceInput): string[] {
  const { brand_name, brand_color, brand_logo_url, brand_website_url } = brand;
  const shown = [brand_name, brand_color, brand_logo_url, brand_website_url, public_url];
  return [...Object.values(values), ...shown.map((value) => value ?? '')];
}

/** A picture that nobody sees. */
export function pictureAt(address: string): string {
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
  /** Merge fields with which one begins. */
  readonly begins = new Set<string>();
  readonly #positions = new Map<string, number>();

  constructor(
    private readonly input: SourceInput,
    private readonly marks: Marks,
    private readonly sharedValue: (name: string) => string | undefined,
  ) {}

  /**
   * What stands in place of an address: one of ours where it is followed, else the address with its merge fields told where they
   * stand. Null where it stays as it is.
   */
  readonly replace = (address: string): string | null => {
    const target = this.#targetOf(address);
    const [first = ''] = target;
    const is_open = typeof first !== 'string';
    if (!is_open && !WEB.test(first) && !MAILTO.test(first)) return null;
    if (is_open) this.begins.add(first[0]);
    const is_web = is_open || WEB.test(first);
    if (!is_web || isOwnLink(target) || !this.input.is_tracked)
      return this.marks.split(address).some((part) => typeof part !== 'string') ? this.#write(target) : null;
    const name = JSON.stringify(target);
    const position = this.#positions.get(name) ?? this.#add(name, target);
    if (is_open) this.open_targets[position] = target;
    return is_open
      ? this.marks.ofLink(position)
      : `${this.input.public_url}/c/${this.marks.ofLink(position)}`;
  };

  /** A web address with the shared values that it has; its other merge fields stay what they are. */
  readonly share = (address: string): string =>
    this.#write(this.#targetOf(address).map((part) => (typeof part === 'string' ? part : [part[0]])));

  #write(target: Link['target']): string {
    return target.map((part) => (typeof part === 'string' ? part : this.marks.ofField(part))).join('');
  }

  /** An address by what it says and by its merge fields, with the place of each. What it begins with stays as it is. */
  #targetOf(address: string): (string | Field)[] {
    const target: (string | Field)[] = [];
    let known = '';
    for (const part of this.marks.split(address)) {
      if (typeof part === 'number') continue;
      const is_first = target.length === 0 && known === '';
      const place = is_first ? undefined : placeBehind(known);
      const value = typeof part === 'string' ? part : this.sharedValue(part[0]);
      if (value === undefined)
        target.push(place === undefined ? [String(part[0])] : [String(part[0]), place]);
      else {
        const text = typeof part === 'string' || place === undefined ? value : encodeFor(place, value);
        const last = target.at(-1);
        if (typeof last === 'string') target[target.length - 1] = last + text;
        else target.push(text);
        known += text;
      }
    }
    return target;
  }

  #add(name: string, target: Link['target']): number {
    this.links.push({ target, token_hosts: this.#tokenHostsOf(target), utm: this.input.utm });
    const position = this.links.length;
    this.#positions.set(name, position);
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

/** Where what follows this beginning of an address stands. */
function placeBehind(known: string): Place {
  if (/[?#]/.test(known)) return 'query';
  return MAILTO.test(known) ? 'mailbox' : 'path';
}

/** A mark that can't be confused with text: a private-use character that none of the texts holds. */
const PRIVATE_USE = Array.from({ length: 0x19_00 }, (_, n) => String.fromCharCode(0xe0_00 + n));

/** Marks put in place of merge fields and links while the text around them is parsed. */
class Marks {
  readonly #mark: string;
  readonly #fields: Field[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(texts: readonly string[]) {
    const free = PRIVATE_USE.find((mark) => !texts.some((text) => text.includes(mark)));
    if (free === undefined)
      throw invalid({ template: ['uses every character for private use (Unicode Co)'] });
    this.#mark = free;
  }

  ofField(field: Field): string {
    const name = JSON.stringify(field);
    const number = this.#numbers.get(name) ?? this.#fields.push(field) - 1;
    this.#numbers.set(name, number);
    return `${this.#mark}n${number}z`;
  }

  ofLink(position: number): string {
    return `${this.#mark}l${position}z`;
  }

  /** The text with what `replace` gives for merge fields that stand in no address; null leaves one. */
  replaceNames(text: string, replace: (name: string) => string | null): string {
    return text.replace(new RegExp(`${this.#mark}n(\\d+)z`, 'g'), (mark, number) => {
      const [name, place] = this.#fields[Number(number)] ?? [''];
      return (place === undefined ? replace(name) : null) ?? mark;
    });
  }

  /** The text between the marks, and what they stand for. */
  split(text: string): Part[] {
    const parts: Part[] = [];
    let from = 0;
    for (const match of text.matchAll(new RegExp(`${this.#mark}([nl])(\\d+)z`, 'g'))) {
      if (match.index > from) parts.push(text.slice(from, match.index));
      from = match.index + match[0].length;
      const n = Number(match[2]);
      parts.push(match[1] === 'l' ? n : (this.#fields[n] ?? ['']));
    }
    if (from < text.length) parts.push(text.slice(from));
    return parts;
  }
}
