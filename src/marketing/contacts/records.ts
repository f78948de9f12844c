/** A contact as clients see it. */
import { present } from '../../platform/http/fields.ts';
import type { ListRow } from '../lists/service.ts';
import { presentTracking, type TrackingChoice } from '../tracking/service.ts';
import { type ContactRecord, FIELDS } from './schemas.ts';
import type { ContactRow } from './tables.ts';

export function presentContact(
  row: ContactRow,
  list: ListRow,
  { tags = [], choice }: { tags: string[] | undefined; choice: TrackingChoice | null | undefined },
): ContactRecord {
  return present(FIELDS, {
    ...row,
    ...presentTracking(choice),
    id: row.public_id,
    list: list.public_id,
    tags,
  });
}
