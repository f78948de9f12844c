/** The hash by which two uploads with one Idempotency-Key are the same. */
import type { BlobUpload } from '../../platform/files/upload.ts';
import { hashRequest } from '../../platform/http/idempotency.ts';

/** What was sent besides the bytes. */
interface Sent {
  filename: string;
  mime_type: string | null;
  fields: Readonly<Record<string, string>>;
}

/** The same in whatever order the fields came. */
export function hashOf(
  upload: Pick<BlobUpload, 'sha256'>,
  { filename, mime_type }: Pick<Sent, 'filename' | 'mime_type'>,
  fields: Sent['fields'],
): string {
  const sorted = JSON.stringify(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return hashRequest('POST', '/objects', upload.sha256(), filename, mime_type ?? '', sorted);
}
