/** The shape of a finding, as it is answered. */
import { named, nullable, oneOf, t } from '../../platform/http/schema.ts';

export const finding = named(
  'Finding',
  t.Object({
    check: t.String(),
    status: oneOf(['ok', 'warning', 'problem']),
    message: t.String(),
    remedy: nullable(t.String()),
  }),
);
