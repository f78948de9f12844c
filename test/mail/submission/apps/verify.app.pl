# Verifies the DKIM signature of each file with Mail::DKIM; the name server that has the key listens at DNS_PORT.
use strict;
use warnings;
use Mail::DKIM::DNS;
use Mail::DKIM::Verifier;
use Net::DNS::Resolver;

Mail::DKIM::DNS::resolver(Net::DNS::Resolver->new(nameservers => ['127.0.0.1'], port => $ENV{DNS_PORT}, recurse => 1));
for my $path (@ARGV) {
    open my $file, '<:raw', $path or die "$path: $!";
    my $verifier = Mail::DKIM::Verifier->new;
    $verifier->load($file);
    print $verifier->result, "\n";
}
