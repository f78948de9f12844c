/** The link by which somebody sets their password: mailed to them, or shown to who is to give it to them. */

import type { PersonMade } from '../../api.generated.ts';
import { ApiError } from '../../api.ts';
import { CheckField } from '../../components/fields.tsx';
import { SecretOnce } from '../../components/masked-secret.tsx';
import { Notice } from '../../components/page.tsx';
import { useAll } from '../../use-load.ts';

/** Says whether the default domain has a mailbox that sends. */
export function useCanMail(): boolean {
  const domain = useAll('GET /sending-domains', {}).data?.find(({ is_default }) => is_default)?.name;
  const mailboxes = useAll('GET /mailboxes', {}).data ?? [];
  return mailboxes.some((each) => each.domain === domain && each.kind === 'smtp' && each.state !== 'paused');
}

export function SendField({ onChange }: { onChange?: (is_sent: boolean) => void }) {
  const can_mail = useCanMail();
  return (
    <CheckField
      key={String(can_mail)}
      name="send"
      label="Send the invitation by mail"
      hint="Otherwise its link is shown to you, this once, to give to them."
      is_checked={can_mail}
      {...(onChange && { onChange })}
    />
  );
}

/** Tells beside the choice why it can't be mailed. Throws ApiError. */
export async function besideSend<T>(made: Promise<T>): Promise<T> {
  try {
    return await made;
  } catch (error) {
    if (!(error instanceof ApiError) || !['no_mailbox', 'public_url'].includes(error.code ?? '')) throw error;
    const { status, message, details } = error;
    throw new ApiError(status, { ...details, message, errors: { send: [message] } }, error);
  }
}

export function LinkOf({ made: { link, sent, words, email } }: { made: PersonMade }) {
  if (link !== undefined)
    return (
      <SecretOnce secret={link}>
        The link by which they set their password: good once, for 24 hours. It is shown this once. Give it to
        them alone.
      </SecretOnce>
    );
  return (
    <Notice tone={sent ? 'good' : 'bad'} role="status">
      {sent
        ? `The invitation is on its way to ${email}. Its link is good once, for 24 hours.`
        : `The mail to ${email} was not taken: ${words} Reset their password for a new link.`}
    </Notice>
  );
}
