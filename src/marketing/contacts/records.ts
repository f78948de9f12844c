/** A contact as clients see it and as they send it. Pure functions. */

import type { FieldErrors } from '../../errors.ts';
import { present } from '../../platform/http/fields.ts';
import type { Static } from '../../platform/http/schema.ts';
import type { ListRow } from '../lists/service.ts';
import { presentTracking, type TrackingChoice } from '../tracking/service.ts';
import { readCustom, readTags, SOURCE_PLATFORM } from './fields.ts';
import type { Candidate } from './pipeline.ts';
import { type ContactRecord, type contact_changes, type creation, FIELDS } from './schemas.ts';
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

/** What is wrong with a contact, by field, past its schema. */
export function errorsInContact(
  body: Partial<Static<typeof contact_changes>> & { source_platform?: string },
): FieldErrors {
  const errors: FieldErrors = {};
  if (body.tags) readTags(body.tags, 'tags', errors);
  if (body.custom) readCustom(body.custom, errors);
  const platform = body.source_platform;
  if (platform && !SOURCE_PLATFORM.test(platform))
    errors.source_platform = ['must be a lowercase slug, such as shop or newsletter-2030'];
  return errors;
}

/** Somebody who is to be on a list, as they were sent; without a platform they come by the API. */
export function candidateOf(
  body: Static<typeof creation>,
  { now_ms, is_test }: { now_ms: number; is_test: boolean },
): Candidate {
  return {
    email: body.email,
    first_name: body.first_name ?? null,
    last_name: body.last_name ?? null,
    tags: readTags(body.tags ?? [], 'tags', {}),
    custom: readCustom(body.custom ?? {}, {}),
    source: body.source ?? null,
    reason: body.reason ?? null,
    source_platform: body.source_platform ?? 'api',
    consent_basis: body.consent_basis ?? null,
    consent_at: body.consent_at ? Date.parse(body.consent_at) : now_ms,
    consent_ip: body.consent_ip ?? null,
    consent_origin: body.consent_origin ?? null,
    tracking: body.tracking ? { tracking: body.tracking, by: 'api' } : null,
    is_test,
  };
}
