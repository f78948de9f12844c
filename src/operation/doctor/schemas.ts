/** The shape of a finding, as it is answered. */
import { ACT_KINDS } from '../../platform/host/health-check.ts';
import { named, nullable, oneOf, t } from '../../platform/http/schema.ts';

export const finding = named(
  'Finding',
  t.Object({
    check: t.String(),
    status: oneOf(['ok', 'warning', 'problem']),
    message: t.String(),
    remedy: nullable(t.String()),
    acts: t.Array(
      t.Object({
        kind: oneOf(ACT_KINDS),
        project: nullable(t.String({ description: 'The slug of the project that it is in.' })),
        of: nullable(t.String({ description: 'The name, address or id of the one that is meant.' })),
      }),
      { description: 'What mends it by one request, where some does.' },
    ),
  }),
);
