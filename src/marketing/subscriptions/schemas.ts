/** What subscriptions hold as JSON. */
/** The sign-up of somebody who had left: the evidence on which a click brings them back. */
export interface ComingBack {
  at: number;
  ip: string | null;
  origin: string | null;
  first_name: string | null;
  last_name: string | null;
}
