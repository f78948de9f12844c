/** Services that send for others, by the domains that they sign with or bounce to where their customers set up none of their own. */
const SENDERS: Readonly<Record<string, readonly string[]>> = {
  ActiveCampaign: ['activehosted.com', 'acems1.com', 'acems2.com', 'emsd1.com'],
  'Amazon SES': ['amazonses.com'],
  Brevo: ['brevosend.com', 'sendinblue.com', 'sender-sib.com'],
  'Campaign Monitor': ['createsend.com', 'cmail19.com', 'cmail20.com'],
  'Constant Contact': ['constantcontact.com', 'ccsend.com'],
  Freshworks: ['freshemail.io', 'freshdesk.com'],
  Google: ['gappssmtp.com', 'google.com', 'gmail.com', 'googlegroups.com'],
  HubSpot: ['hubspotemail.net', 'hubspot.com'],
  Klaviyo: ['klaviyomail.com', 'klaviyo.com'],
  Mailchimp: ['mcsv.net', 'mcdlv.net', 'rsgsv.net', 'mailchimpapp.net', 'mailchimp.com', 'mandrillapp.com'],
  MailerLite: ['mlsend.com', 'mailerlite.com'],
  Mailgun: ['mailgun.org', 'mailgun.net', 'mailgun.info'],
  Mailjet: ['mailjet.com', 'mjt.lu'],
  'Microsoft 365': ['onmicrosoft.com', 'outlook.com', 'microsoft.com'],
  Postmark: ['mtasv.net', 'postmarkapp.com'],
  Proton: ['protonmail.ch', 'proton.me'],
  Salesforce: ['salesforce.com', 'exacttarget.com', 'pardot.com'],
  SendGrid: ['sendgrid.net', 'sendgrid.me', 'sendgrid.com'],
  Shopify: ['shopifyemail.com', 'shopify.com'],
  SparkPost: ['sparkpostmail.com', 'e.sparkpost.com'],
  Zendesk: ['zendesk.com'],
  Zoho: ['zoho.com', 'zoho.eu', 'zohomail.com', 'zcsend.net', 'zeptomail.com'],
};

const BY_DOMAIN = new Map(
  Object.entries(SENDERS).flatMap(([name, domains]) => domains.map((domain) => [domain, name] as const)),
);

/** The service that has a domain, or one that it is within; null where none of those above has. */
export function senderOf(domain: string): string | null {
  const labels = domain.split('.');
  for (let from = 0; from < labels.length - 1; from += 1) {
    const name = BY_DOMAIN.get(labels.slice(from).join('.'));
    if (name !== undefined) return name;
  }
  return null;
}
