/** What each part of a key's page is given. */
import type { ApiKey } from '../../api.generated.ts';

export interface KeyPartProps {
  path: { project: string; apiKey: string };
  of: ApiKey;
  /** The version that was read. */
  etag: string | null;
  /** The key is another one now: it is to be loaded again. */
  onChange(): void;
}
