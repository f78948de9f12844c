/** The button that mends a finding, by the request that its remedy is as a command. */
import type { Finding } from '../../api.generated.ts';
import { call } from '../../api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { toast } from '../../components/toast.tsx';
import { navigate, to } from '../../router.ts';
import { serverNow } from '../../time.ts';
import { RetryAll } from '../emails/retry-all.tsx';
import { LetGoButtons } from '../home/held.tsx';

type Act = Finding['acts'][number];

const DAY_MS = 86_400_000;

/** Buttons by their acts. An act that asks first, or tells a number, has a component of its own. */
const DOES = {
  verify_domain: {
    label: 'Look the records up',
    async act({ of }) {
      const { is_verified, name } = await call('POST /sending-domains/{name}/verify', {
        path: { name: of ?? '' },
      });
      toast(
        is_verified ? `${name} is verified` : `${name} is not verified: not all is found`,
        is_verified ? 'good' : 'bad',
      );
    },
  },
  resume_mailbox: {
    label: 'Resume it',
    async act({ of }) {
      const path = { address: of ?? '' };
      await call('PATCH /mailboxes/{address}', { path, body: { state: 'active' }, if_match: null });
      toast(`${of} is resumed`);
    },
  },
  resume_sequence: {
    label: 'Resume it',
    async act({ of, project }) {
      const path = { project: project ?? '', sequence: of ?? '' };
      const { name } = await call('POST /projects/{project}/email-sequences/{sequence}/resume', { path });
      toast(`${name} is resumed`);
    },
  },
  resume_broadcast: {
    label: 'Resume it',
    async act({ of, project }) {
      const path = { project: project ?? '', broadcast: of ?? '' };
      const { name } = await call('POST /projects/{project}/email-broadcasts/{broadcast}/resume', { path });
      toast(`${name} is resumed`);
    },
  },
  enable_webhook: {
    label: 'Switch it on',
    async act({ of, project }) {
      const path = { project: project ?? '', webhook: of ?? '' };
      const body = { is_active: true };
      await call('PATCH /projects/{project}/webhooks/{webhook}', { path, body, if_match: null });
      toast('It is told again');
    },
  },
  make_backup: {
    label: 'Make a backup',
    async act() {
      const { name } = await call('POST /backups', {});
      navigate(to`/backups/${name}`);
    },
  },
} as const satisfies Partial<Record<Act['kind'], { label: string; act(of: Act): Promise<void> }>>;

/** `several`: others of its kind are beside it, so that it says where it acts. */
export function ActButton({ of, several, onChange }: { of: Act; several: boolean; onChange(): void }) {
  if (of.kind === 'retry_mail')
    return (
      <RetryAll
        project={of.project ?? ''}
        filter={{ date_from: new Date(serverNow() - DAY_MS).toISOString() }}
        label={several ? `Try all of ${of.project} again` : 'Try all again'}
        onChange={onChange}
      />
    );
  if (of.kind === 'release') return <LetGoButtons onChange={onChange} />;
  // Beside the other way on.
  if (of.kind === 'drop') return null;
  const { label, act } = DOES[of.kind];
  return <ActionButton act={() => act(of).finally(onChange)}>{label}</ActionButton>;
}

/** The page where one looks at the thing first. */
export function placeOf({ kind, project, of }: Act): { path: string; label: string } | null {
  if (of === null)
    return kind === 'retry_mail'
      ? { path: `${to`/projects/${project ?? ''}/emails`}?status=failed`, label: 'The mails' }
      : null;
  if (kind === 'verify_domain') return { path: to`/sending-domains/${of}`, label: 'The domain' };
  if (kind === 'resume_mailbox') return { path: to`/mailboxes/${of}`, label: 'The mailbox' };
  const part = { resume_sequence: 'sequences', resume_broadcast: 'broadcasts', enable_webhook: 'webhooks' };
  const found = Object.entries(part).find(([each]) => each === kind)?.[1];
  return found
    ? { path: `${to`/projects/${project ?? ''}`}/${found}/${encodeURIComponent(of)}`, label: 'Look at it' }
    : null;
}
