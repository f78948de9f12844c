/** The link by which somebody sets their password. */
import { SecretOnce } from '../../components/secret-once.tsx';

export function OneTimeLink({ link }: { link: string }) {
  return (
    <SecretOnce secret={link}>
      The link by which they set their password: good once, for 24 hours. It is shown this once. Give it to
      them alone.
    </SecretOnce>
  );
}
