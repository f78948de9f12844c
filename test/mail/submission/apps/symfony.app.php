<?php
// Sends one mail as an app on Symfony or Laravel does.
require '/usr/share/php/Symfony/Component/Mailer/autoload.php';

use Symfony\Component\Mailer\Mailer;
use Symfony\Component\Mailer\Transport;
use Symfony\Component\Mime\Address;
use Symfony\Component\Mime\Email;

$dsn = sprintf('smtp://satchel:%s@localhost:%d', rawurlencode(getenv('KEY')), getenv('PORT'));
$email = (new Email())
    ->from(new Address('hello@shop.example.com', 'Shöp'))
    ->to('ada@example.org')
    ->subject(getenv('SUBJECT'))
    ->text(getenv('TEXT'))
    ->attachFromPath(getenv('FILE'), 'ä.bin', 'application/octet-stream');
(new Mailer(Transport::fromDsn($dsn)))->send($email);
