/**
 * Reads an S3 store's XML as it comes. A store may be broken or hostile: what could cost more than its length
 * is bounded, and nobody waits longer than for one piece.
 */
import { SaxesParser } from 'saxes';
import { messageOf } from '../../errors.ts';
import { letOthers } from '../host/waiting.ts';

/** Read at once: about a millisecond. */
const PIECE_BYTES = 8 * 1024;
/** S3 nests less deep, and gives no attributes but a namespace and a type. */
const MAX_DEPTH = 16;
const MAX_ATTRIBUTES = 16;
/** A key has at most 1,024 bytes, a token of a list some hundred. */
const MAX_TEXT_CHARS = 16 * 1024;
/** As much may stand between two tags: such a text, escaped. */
const MAX_RUN_CHARS = 8 * MAX_TEXT_CHARS;
/** A page of a list has 1,000 records of ten elements. */
const MAX_ELEMENTS = 30_000;

/** Texts by the names of their elements; of several with one name, the first. */
type Texts = Map<string, string>;

export interface StoreXml {
  /** The name of the outermost element; empty where there is none. */
  root: string;
  /** What stands right in it. */
  texts: Texts;
  /** Elements in it that have parts, in their order. */
  records: { name: string; texts: Texts }[];
}

/** What could be read; `flaw` says what stopped it. */
export async function readXml(
  chunks: AsyncIterable<Uint8Array>,
): Promise<{ xml: StoreXml; flaw: string | null }> {
  const reader = new Reader();
  const decoder = new TextDecoder();
  try {
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.byteLength; from += PIECE_BYTES) {
        reader.write(decoder.decode(chunk.subarray(from, from + PIECE_BYTES), { stream: true }));
        await letOthers();
      }
    }
    reader.end(decoder.decode());
    return { xml: reader.xml, flaw: null };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { xml: reader.xml, flaw: messageOf(error) };
  }
}

/** It is no XML, or none of a store. */
class Unreadable extends Error {}

class Reader {
  readonly xml: StoreXml = { root: '', texts: new Map(), records: [] };
  readonly #parser = new SaxesParser();
  readonly #path: string[] = [];
  #has_begun = false;
  #elements = 0;
  /** What came since the last tag, in pieces. */
  #run_chars = 0;
  #attributes = 0;
  #text = '';
  #record: Texts | null = null;

  constructor() {
    const parser = this.#parser;
    const refuse = (what: string) => (): never => {
      throw new Unreadable(what);
    };
    parser.on('error', (error) => refuse(error.message.slice(0, 200))());
    parser.on('doctype', refuse('it has a DOCTYPE'));
    parser.on('comment', refuse('it has a comment'));
    parser.on('processinginstruction', refuse('it has an instruction'));
    parser.on('attribute', () => {
      this.#attributes += 1;
      if (this.#attributes > MAX_ATTRIBUTES) refuse('an element has too many attributes')();
    });
    parser.on('opentag', ({ name }) => this.#open(name));
    parser.on('text', (text) => this.#take(text));
    parser.on('cdata', (text) => this.#take(text));
    parser.on('closetag', () => this.#close());
  }

  /** Some stores send white space first, until they are done with what they are asked. */
  write(text: string): void {
    const part = this.#has_begun ? text : text.trimStart();
    if (part === '') return;
    this.#has_begun = true;
    this.#run_chars += part.length;
    this.#parser.write(part);
    if (this.#run_chars > MAX_RUN_CHARS) throw new Unreadable('a part of it does not end');
  }

  end(text: string): void {
    this.write(text);
    if (this.#has_begun) this.#parser.close();
  }

  #open(name: string): void {
    this.#attributes = 0;
    this.#run_chars = 0;
    this.#text = '';
    this.#elements += 1;
    if (this.#elements > MAX_ELEMENTS) throw new Unreadable('it has too many elements');
    const depth = this.#path.push(name);
    if (depth > MAX_DEPTH) throw new Unreadable('its elements are nested too deep');
    if (depth === 1) this.xml.root = name;
    if (depth !== 3 || this.#record) return;
    this.#record = new Map();
    this.xml.records.push({ name: this.#path[1] ?? '', texts: this.#record });
  }

  #take(text: string): void {
    if (this.#text.length + text.length > MAX_TEXT_CHARS)
      throw new Unreadable('one of its texts is too long');
    this.#text += text;
  }

  #close(): void {
    this.#run_chars = 0;
    const depth = this.#path.length;
    const name = this.#path.pop() ?? '';
    const texts = depth === 2 && !this.#record ? this.xml.texts : depth === 3 ? this.#record : null;
    if (texts && !texts.has(name)) texts.set(name, this.#text);
    if (depth === 2) this.#record = null;
    this.#text = '';
  }
}

/* --- Of its answers few elements matter: pages of lists and reasons of refusals --- */

/** What a refusal is called and says; a HEAD is answered without. */
export interface Refusal {
  code: string | null;
  message: string | null;
}

export function refusalOf({ root, texts }: StoreXml): Refusal {
  if (root !== 'Error') return { code: null, message: null };
  return { code: texts.get('Code') ?? null, message: texts.get('Message') ?? null };
}

export interface ListedKey {
  key: string;
  size_bytes: number;
  modified_ms: number;
}

export function readKeys(xml: StoreXml): ListedKey[] {
  return recordsOf(xml, 'Contents').map((texts) => ({
    key: texts.get('Key') ?? '',
    size_bytes: Number(texts.get('Size') ?? Number.NaN),
    modified_ms: Date.parse(texts.get('LastModified') ?? ''),
  }));
}

export interface UnfinishedUpload {
  key: string;
  upload_id: string;
  begun_ms: number;
}

export function readUploads(xml: StoreXml): UnfinishedUpload[] {
  return recordsOf(xml, 'Upload').map((texts) => ({
    key: texts.get('Key') ?? '',
    upload_id: texts.get('UploadId') ?? '',
    begun_ms: Date.parse(texts.get('Initiated') ?? ''),
  }));
}

function recordsOf({ records }: StoreXml, name: string): StoreXml['texts'][] {
  return records.filter((record) => record.name === name).map(({ texts }) => texts);
}

/** The body that completes an upload of these parts. */
export function completionOf(etags: readonly string[]): Uint8Array {
  const parts = etags.map(
    (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeText(etag)}</ETag></Part>`,
  );
  return new TextEncoder().encode(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
