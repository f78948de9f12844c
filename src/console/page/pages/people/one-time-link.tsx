/** The link by which somebody sets their password, or what became of the mail with it. */
import type { PersonMade } from '../../api.generated.ts';
import { SecretOnce } from '../../components/secret-once.tsx';

export function LinkOf({ made: { link, sent, words, email } }: { made: PersonMade }) {
  if (link !== undefined)
    return (
      <SecretOnce secret={link}>
        The link by which they set their password: good once, for 24 hours. It is shown this once. Give it to
        them alone.
      </SecretOnce>
    );
  return (
    <p role="status">
      {sent
        ? `The link is on its way to ${email}. It is good once, for 24 hours.`
        : `The mail to ${email} was not taken: ${words} Reset their password for a new link.`}
    </p>
  );
}
