/** Shapes that accounts at other companies share, whoever they are at. */
import { MAX_NAME_CHARS, MAX_PROVIDER_SECRET_CHARS, MAX_URL_CHARS } from '../../limits.ts';
import { named, type Static, t, text, webUrl } from '../http/schema.ts';

export const accountName = text({ min: 1, max: MAX_NAME_CHARS });
export const accountSecret = text({ min: 1, max: MAX_PROVIDER_SECRET_CHARS });
export const word = () => text({ max: MAX_NAME_CHARS });
export const address = () => webUrl(MAX_URL_CHARS);

/** A record is named by its numeric id or its ULID; a project by its slug as well. */
export const reference = t.Union([t.Integer({ minimum: 1 }), text({ min: 1, max: MAX_NAME_CHARS })]);
export type Reference = Static<typeof reference>;

export const deletedRecord = named(
  'DeletedRecord',
  t.Object({ deleted: t.Boolean(), cascade: t.Object({ links: t.Integer() }) }),
);
export type DeletedRecord = Static<typeof deletedRecord>;
