/** What the parts of a domain's page are given. */
import type { SendingDomainDetails } from '../../api.generated.ts';

export interface DomainPartProps {
  of: SendingDomainDetails;
  /** The version that is shown. */
  etag: string | null;
  onChange(): void;
}
