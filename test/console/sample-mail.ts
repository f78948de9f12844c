/** Files, mails, templates and schedules as a project has them after a few weeks. */
import type { TestApp } from '../helpers.ts';

/** What the pages of files and mail are opened with. */
export interface MailSample {
  file: string;
  picture: string;
}

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180" viewBox="0 0 320 180">
<rect width="320" height="180" rx="12" fill="#5753c6"/><circle cx="120" cy="90" r="48" fill="#f1b33f"/></svg>`;

/** Of the project whose key may do everything with files and mail. */
export async function addFilesAndMail(app: TestApp, key: string, hostile: string): Promise<MailSample> {
  const upload = async (name: string, type: string, text: string, fields: Record<string, string> = {}) => {
    const body = new FormData();
    for (const [field, value] of Object.entries(fields)) body.set(field, value);
    body.set('file', new File([text], name, { type }));
    const { body: answer } = await app.call('POST', '/api/v1/objects', { key, body });
    return String(answer.public_id);
  };
  await upload('terms and conditions.pdf', 'application/pdf', '%PDF-1.4'.padEnd(182_000), {
    visibility: 'public',
  });
  const picture = await upload('logo.svg', 'image/svg+xml', PICTURE, { expires_in_days: '30' });
  await upload('export-2026-11.csv', 'text/csv', 'a,b\n'.repeat(4_000));
  const file = await upload(hostile.replaceAll('/', '\u2215'), 'image/png', 'no picture');
  return { file, picture };
}
