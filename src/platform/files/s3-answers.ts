/** An S3 store's XML answers, of which few elements matter: pages of lists and reasons of refusals. */
import type { StoreXml } from './s3-xml.ts';

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
