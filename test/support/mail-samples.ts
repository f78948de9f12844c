/** Mails and routes to vary in the tests of sending. */
import type { MailContent, SmtpRoute } from '../../src/platform/mail/types.ts';
import type { SmtpSink } from './smtp-sink.ts';

/** 2026-01-02T03:04:05Z. */
export const SAMPLE_DATE_MS = 1_767_323_045_000;

export function mailOf(changes: Partial<MailContent> = {}): MailContent {
  return {
    message_id: '<01JGK0000000000000000000AA@shop.example>',
    date_ms: SAMPLE_DATE_MS,
    from: { address: 'orders@shop.example', name: 'The Shop' },
    to: { address: 'ann@customer.example', name: 'Ann' },
    cc: [],
    bcc: [],
    reply_to: null,
    subject: 'Your order',
    html: null,
    text: 'It is on its way.',
    attachments: [],
    dkim: null,
    ...changes,
  };
}

/** A route to a sink; its key is unlike any other's. */
export function routeTo(sink: Pick<SmtpSink, 'host' | 'port'>, changes: Partial<SmtpRoute> = {}): SmtpRoute {
  return {
    key: `${sink.port} ${crypto.randomUUID()}`,
    host: sink.host,
    port: sink.port,
    security: 'opportunistic',
    username: null,
    password: null,
    return_path: null,
    client_name: 'shop.example',
    ...changes,
  };
}
