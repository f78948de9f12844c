/** Reading what an S3 store answers: its XML, of which a handful of elements matter, and the reasons of its refusals. */
import { decodeXML } from 'entities';

/** The texts of every element of this name, in their order. */
export function textsOf(xml: string, name: string): string[] {
  const element = new RegExp(`<${name}>([^<]*)</${name}>`, 'g');
  return [...xml.matchAll(element)].map(([, text = '']) => decodeXML(text));
}

export function textOf(xml: string, name: string): string | null {
  return textsOf(xml, name)[0] ?? null;
}

/** The content of every element of this name that has elements of its own. */
export function elementsOf(xml: string, name: string): string[] {
  const element = new RegExp(`<${name}>(.*?)</${name}>`, 'gs');
  return [...xml.matchAll(element)].map(([, content = '']) => content);
}

/** What a refusal is called and says; a HEAD is answered without. */
export interface Refusal {
  code: string | null;
  message: string | null;
}

export function refusalOf(xml: string): Refusal {
  if (!/<Error[\s>]/.test(xml)) return { code: null, message: null };
  return { code: textOf(xml, 'Code'), message: textOf(xml, 'Message') };
}

export interface ListedKey {
  key: string;
  size_bytes: number;
  modified_ms: number;
}

export function readKeys(xml: string): ListedKey[] {
  return elementsOf(xml, 'Contents').map((each) => ({
    key: textOf(each, 'Key') ?? '',
    size_bytes: Number(textOf(each, 'Size') ?? Number.NaN),
    modified_ms: Date.parse(textOf(each, 'LastModified') ?? ''),
  }));
}

export interface UnfinishedUpload {
  key: string;
  upload_id: string;
  begun_ms: number;
}

export function readUploads(xml: string): UnfinishedUpload[] {
  return elementsOf(xml, 'Upload').map((each) => ({
    key: textOf(each, 'Key') ?? '',
    upload_id: textOf(each, 'UploadId') ?? '',
    begun_ms: Date.parse(textOf(each, 'Initiated') ?? ''),
  }));
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
