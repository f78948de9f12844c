/** What an app that speaks SMTP is to be set to. */
import { named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';

export const smtpAccess = named(
  'SmtpAccess',
  t.Object({
    host: t.String(),
    port: t.Integer(),
    tls: oneOf(['tls', 'starttls', 'none']),
    user: t.String({ description: 'Any name does.' }),
  }),
);
export type SmtpAccess = Static<typeof smtpAccess>;

export const smtpAnswer = t.Object({ smtp: nullable(smtpAccess) });
