/** Shapes of sending domains. */
import { MAX_DNS_NAME_CHARS } from '../../limits.ts';
import { changesOf, dateTime, named, nullable, oneOf, t, text } from '../../platform/http/schema.ts';

export const newDomain = t.Object({
  name: text({ min: 1, max: MAX_DNS_NAME_CHARS }),
  is_default: t.Optional(t.Boolean({ description: 'The first domain is the default anyway.' })),
  is_trusted: t.Optional(t.Boolean({ description: 'Used without its DNS records being looked up.' })),
});

export const domainChanges = changesOf({
  is_default: t.Boolean({ description: 'One domain is the default: true makes this one it.' }),
  is_active: t.Boolean(),
  is_trusted: t.Boolean({
    description: 'Used without its DNS records being verified, for who knows better.',
  }),
});

const fields = {
  name: t.String(),
  is_default: t.Boolean(),
  is_active: t.Boolean(),
  is_trusted: t.Boolean(),
  is_verified: t.Boolean(),
  verified_at: nullable(dateTime()),
  dkim_selector: t.String(),
  mailboxes: t.Integer(),
  created_at: dateTime(),
};
export const domainRecord = named('SendingDomain', t.Object(fields));

const record = {
  purpose: oneOf(['ownership', 'spf', 'dkim', 'dmarc', 'mta_sts', 'tls_rpt']),
  type: t.Literal('TXT'),
  name: t.String(),
  value: t.String(),
};
const dnsRecord = named('DnsRecord', t.Object(record));

export const dkimRotation = named(
  'DkimRotation',
  t.Object({
    state: oneOf(['waiting', 'done']),
    record: dnsRecord,
    old_name: t.String(),
    old_unneeded_from: nullable(dateTime()),
  }),
);

const details = { ...fields, advised: t.Array(dnsRecord), dkim_rotation: nullable(dkimRotation) };

export const addedDomain = named(
  'AddedSendingDomain',
  t.Object({ ...fields, records: t.Array(dnsRecord), advised: t.Array(dnsRecord) }),
);

export const domainDetails = named(
  'SendingDomainDetails',
  t.Object({ ...details, records: t.Array(dnsRecord), waiting_emails: t.Integer() }),
);

const checkedRecord = named(
  'CheckedDnsRecord',
  t.Object({
    ...record,
    status: oneOf(['found', 'missing', 'wrong', 'unknown', 'unneeded']),
    found: nullable(t.String()),
    problem: nullable(t.String()),
  }),
);

export const domainCheck = named(
  'SendingDomainCheck',
  t.Object({
    ...details,
    records: t.Array(checkedRecord),
    dns_provider: nullable(t.String({ description: 'Who runs its DNS, where its name servers say it.' })),
    bounces: t.Array(t.Object({ domain: t.String(), takes_mail: oneOf(['yes', 'no', 'unknown']) })),
  }),
);

export const removedDomain = t.Object({
  deleted: t.Literal(true),
  cascade: t.Object({ mailboxes: t.Integer(), waiting_emails: t.Integer() }),
});
