/** Shapes of sending domains. */
import { MAX_DNS_NAME_CHARS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  text,
} from '../../platform/http/schema.ts';

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
  is_trusted: t.Boolean({ description: 'Used like a verified one, without any look-up.' }),
  is_verified: t.Boolean({ description: 'Its records were looked up and fit.' }),
  verified_at: nullable(dateTime()),
  dkim_selector: t.String(),
  mailboxes: t.Integer(),
  created_at: dateTime(),
};
export const domainRecord = named('SendingDomain', t.Object(fields));
export type DomainRecord = Static<typeof domainRecord>;
export type DomainChanges = Partial<Static<typeof domainChanges>>;

const record = {
  purpose: oneOf(['ownership', 'spf', 'dkim', 'dmarc', 'mta_sts', 'tls_rpt']),
  type: t.Literal('TXT'),
  name: t.String(),
  value: t.String(),
};
/** What the owner of the domain publishes. */
const dnsRecord = named('DnsRecord', t.Object(record));
export type DnsRecord = Static<typeof dnsRecord>;

export const dkimRotation = named(
  'DkimRotation',
  t.Object({
    state: {
      ...oneOf(['waiting', 'done']),
      description:
        "`waiting`: the new key's record is not seen yet. `done`: mail is signed with the new key.",
    },
    record: dnsRecord,
    old_name: t.String(),
    old_unneeded_from: {
      ...nullable(dateTime()),
      description: 'From when on nobody looks for the old record.',
    },
  }),
);
export type DkimRotation = Static<typeof dkimRotation>;

const details = { ...fields, advised: t.Array(dnsRecord), dkim_rotation: nullable(dkimRotation) };

/** With what to publish, and what is good to have. */
export const addedDomain = named(
  'AddedSendingDomain',
  t.Object({ ...fields, records: t.Array(dnsRecord), advised: t.Array(dnsRecord) }),
);
export type AddedDomain = Static<typeof addedDomain>;

export const domainDetails = named(
  'SendingDomainDetails',
  t.Object({ ...details, records: t.Array(dnsRecord), waiting_emails: t.Integer() }),
);
export type DomainDetails = Omit<Static<typeof domainDetails>, 'waiting_emails'>;

const checkedRecord = named(
  'CheckedDnsRecord',
  t.Object({
    ...record,
    status: {
      ...oneOf(['found', 'missing', 'wrong', 'unknown', 'unneeded']),
      description: '`unknown`: nobody answered. `unneeded`: missing or wrong, but nobody needs it.',
    },
    found: nullable(t.String({ description: 'What stands there now.' })),
    problem: nullable(t.String()),
  }),
);
export type RecordCheck = Static<typeof checkedRecord>;

const bounceCheck = t.Object({ domain: t.String(), takes_mail: oneOf(['yes', 'no', 'unknown']) });
/** Whether a domain that bounces go to takes mail at all. */
export type BounceCheck = Static<typeof bounceCheck>;

export const domainCheck = named(
  'SendingDomainCheck',
  t.Object({
    ...details,
    records: t.Array(checkedRecord),
    dns_provider: nullable(t.String({ description: 'Who runs its DNS, where its name servers say it.' })),
    bounces: t.Array(bounceCheck),
  }),
);
export type DomainCheck = Static<typeof domainCheck>;

export const removedDomain = t.Object({
  deleted: t.Literal(true),
  cascade: t.Object({ mailboxes: t.Integer(), waiting_emails: t.Integer() }),
});
