/** Shapes that the tables of Mailgun's calls hold. */
export type { StoredAttachment } from '../../mail/emails/service.ts';
