/** Shapes of what receivers reported of a domain. */
import { named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';

const number = (description?: string) => t.Integer(description === undefined ? {} : { description });
const day = () => t.String({ format: 'date', description: 'A day in UTC.' });

const source = t.Object({
  ip: t.String(),
  count: number(),
  dkim_aligned: number(),
  spf_aligned: number(),
  disposition: t.Object({ none: number(), quarantine: number(), reject: number() }),
  header_from: t.String(),
  ours: t.Boolean({ description: 'More than half of it passes DKIM with a key of this server.' }),
  words: t.String({ description: 'Whose it is, and what is to be done about it, in one sentence.' }),
});

export const domainReportsRecord = named(
  'SendingDomainReports',
  t.Object({
    from: day(),
    to: day(),
    organizations: t.Array(t.String(), { description: 'Who reported.' }),
    total: number('Mails in the name of the domain.'),
    aligned: number('Of these, those that passed DKIM or SPF in the name of the domain.'),
    policy: nullable(oneOf(['none', 'quarantine', 'reject'])),
    sources: t.Array(source, { description: 'Most mails first, at most 100.' }),
    tls: t.Object({
      sessions: number(),
      failed: number(),
      by_reason: t.Record(t.String(), t.Integer()),
    }),
  }),
);
export type DomainReportsRecord = Static<typeof domainReportsRecord>;
export const daysQuery = t.Object({
  days: t.Optional(t.Integer({ minimum: 1, maximum: 90, description: 'The last days. Default 30.' })),
});
