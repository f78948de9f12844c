/** What became of a mail, and that it was kept here where nobody got it. */
import type { Email } from '../../api.generated.ts';
import { Badge } from '../../components/badge.tsx';
import { Status } from '../../components/status.tsx';

export function MailStatus({ of }: { of: Email }) {
  if (!of.captured) return <Status of={of.status} />;
  return (
    <span class="row">
      <Status of={of.status} tone="neutral" />
      <Badge tone="warn">kept here</Badge>
    </span>
  );
}
