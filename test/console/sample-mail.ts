/** Files, mails, templates and schedules as a project has them after a few weeks. */
import type { TestApp } from '../support/helpers.ts';

/** What the pages of files and mail are opened with. */
export interface MailSample {
  file: string;
  picture: string;
  /** Was refused, then tried again. */
  email: string;
  /** Has HTML. */
  letter: string;
  hostile_email: string;
  template: string;
  hostile_template: string;
  schedule: string;
  job: string;
}

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" width="320" height="180" viewBox="0 0 320 180">
<rect width="320" height="180" rx="12" fill="#5753c6"/><circle cx="120" cy="90" r="48" fill="#f1b33f"/></svg>`;

const LETTER = `<div style="font-family:sans-serif;max-width:560px;margin:24px auto;padding:0 16px">
<h1 style="font-size:22px">Your order is on its way</h1><p>Dear Ann, we have handed it over this morning.</p>
<p><a href="https://shop.example.com" style="background:#5753c6;color:#fff;padding:10px 16px;border-radius:6px">Follow it</a></p></div>`;

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
  const file = await upload(hostile.replaceAll('/', '\u2215'), 'image/avif', 'no picture');
  const send = async (fields: Record<string, unknown>) => {
    const body = { to: 'ann@example.org', subject: 'Your order has shipped', queue: false, ...fields };
    const { body: answer } = await app.call('POST', '/api/v1/emails/send', { key, body });
    return String(answer.id ?? answer.email_id);
  };
  const letter = await send({
    ...{ to_name: 'Ann Example', from_name: 'Corner shop', reply_to: 'help@shop.example.com' },
    ...{ cc: ['ben@example.org'], attachments: [picture], body_html: LETTER, body_text: 'It is on its way.' },
  });
  const email = await send({ to: 'bounce@simulator.satchel.test', body_text: 'It is on its way.' });
  const hostile_email = await send({ subject: hostile, body_html: hostile, body_text: hostile });
  const template = await addTemplates(app, key, hostile);
  const schedule = await addSchedules(app, key, { template: template.template, hostile });
  const job = app.services.emails.get(app.services.projects.require('shop'), letter).job_id ?? '';
  return { file, picture, email, letter, hostile_email, ...template, schedule, job };
}

async function addTemplates(app: TestApp, key: string, hostile: string) {
  const make = async (fields: Record<string, unknown>) => {
    const body = { category: 'transactional', body_text: 'Dear {{ name }}', ...fields };
    return String((await app.call('POST', '/api/v1/emails/templates', { key, body })).body.slug);
  };
  const template = await make({
    ...{ name: 'Order shipped', category: 'notification', subject: 'Order {{ order_id }} is on its way' },
    description: 'Sent when the parcel has left us.',
    body_html: LETTER.replace('Dear Ann', 'Dear {{ first_name }}').replace(
      'order is',
      'order {{ order_id }} is',
    ),
    body_text: 'Dear {{ first_name }}, your order {{ order_id }} is on its way.',
    variables: [
      { name: 'order_id', description: 'As it stands on the invoice', required: true },
      { name: 'first_name', description: 'Of the customer' },
    ],
  });
  await make({ name: 'Reset the password', subject: 'Your new password', slug: 'reset' });
  await make({
    name: 'Receipt of last year',
    category: 'receipt',
    subject: 'Your receipt',
    is_active: false,
  });
  const hostile_template = await make({
    ...{ name: hostile, slug: 'hostile', subject: hostile, description: hostile, body_text: hostile },
    variables: [{ name: 'constructor_', description: hostile }],
  });
  return { template, hostile_template };
}

async function addSchedules(app: TestApp, key: string, of: { template: string; hostile: string }) {
  const make = async (fields: Record<string, unknown>) => {
    const body = { recipients: [{ email: 'ann@example.org', name: 'Ann Example' }], ...fields };
    return String((await app.call('POST', '/api/v1/email-schedules', { key, body })).body.id);
  };
  const schedule = await make({
    ...{
      name: 'Weekly report',
      cron_expression: '0 9 * * 1',
      timezone: 'Europe/Berlin',
      template: of.template,
    },
    ...{ variables: { order_id: '1001', first_name: 'Ann' }, description: 'To whoever packs the parcels.' },
  });
  const { hostile } = of;
  await make({
    ...{ name: hostile, cron_expression: '@daily', subject: hostile, body_text: hostile, is_active: false },
    description: hostile,
  });
  await app.call('POST', `/api/v1/email-schedules/${schedule}/run`, { key });
  await app.app.engine.whenIdle();
  return schedule;
}
